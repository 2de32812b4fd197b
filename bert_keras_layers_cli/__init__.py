"""Command line `bert-keras`: the library from a shell.

    app -> commands -> data -> runs -> console

Help and completion must answer at once, so the modules here and in `commands` import
the library, and with it Keras and TensorFlow, only when a command runs.
"""

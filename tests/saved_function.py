"""SavedModels of single functions, good and bad ones, for tests of serving."""


def save_function(folder, function, *specs, **tracked):
    """Writes a function as the only signature, beside a variable; returns `folder`."""
    import tensorflow as tf

    module = tf.Module()
    module.variable = tf.Variable([1.0, 2.0, 3.0])
    for name, value in tracked.items():
        setattr(module, name, value)
    module.serve = tf.function(function)
    served = module.serve.get_concrete_function(*specs)
    tf.saved_model.save(module, str(folder), signatures=served)
    return folder

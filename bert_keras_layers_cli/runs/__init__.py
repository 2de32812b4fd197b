"""Runs: the work of the commands, with Keras and TensorFlow loaded."""

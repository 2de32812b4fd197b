"""Preprocessing: texts -> token ids, in a TensorFlow graph and out of it."""

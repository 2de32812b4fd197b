"""Serving: a trained model -> a SavedModel that a server can load."""

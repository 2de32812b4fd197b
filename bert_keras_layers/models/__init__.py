"""Models: encoder, layers and head as one `keras.Model` that also takes text."""

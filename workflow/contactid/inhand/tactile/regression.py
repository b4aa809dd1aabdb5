"""Force models: Bayesian linear regression on random features, and plain linear regression.

Random features: h hidden units tanh(W x + b) with drawn W and b (a network of one layer whose first
weights are not trained), besides the signals themselves and a constant. The last layer is a
Bayesian linear regression whose noise and prior variances maximise the evidence (MacKay 1992); its
predictive variance holds noise and the weights' uncertainty. Noise that grows with the force is met
by one more step: the log of the squared residual is regressed on the same features, on sessions
that the weights were not fitted to, and scales the predictive variance.

Linear: least squares on the signals and a constant, with the residual's standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Samples = Mapping[
    str, np.ndarray
]  # tared signals (n, 19) and forces (n, 3) N, as simulated_samples names them
Predictor = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

# of the fixed point, without a test for its end
_EVIDENCE_STEPS = 20
_LOG_CHI_SQUARE_MEAN = -1.2703628454614782  # of a chi-square variable with one degree of freedom
_SD_RANGE = (0.25, 4.0)  # of the residual step, against the homoscedastic one


def fit_linear(samples: Samples) -> Predictor:
    """Least squares from 19 signals to 3 components; the standard deviation is that of the
    validation residuals.
    """

    def features(signals: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(signals)), signals])

    weights = np.linalg.lstsq(
        features(samples["training_signals"]), samples["training_force"], rcond=None
    )[0]
    # of sessions that it wasn't fitted to
    sd = np.std(
        samples["validation_force"] - features(samples["validation_signals"]) @ weights, axis=0
    )

    def predict(signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = features(signals) @ weights
        return mean, np.broadcast_to(sd, mean.shape).copy()

    return predict


def fit_bayesian_features(samples: Samples, hidden: int, seed: int) -> Predictor:
    """Bayesian linear regression on ``hidden`` random features, drawn from ``seed``."""
    random, training = np.random.default_rng(seed), samples["training_signals"]
    # by training alone: nothing of the test sets leaks in
    centre, scale = training.mean(axis=0), training.std(axis=0)
    # of unit variance before the bias, whatever the number of signals
    inner = random.normal(size=(training.shape[1], hidden)) / np.sqrt(training.shape[1])
    bias = random.normal(size=hidden)

    def features(signals: np.ndarray) -> np.ndarray:
        scaled = (signals - centre) / scale
        return np.column_stack([np.ones(len(scaled)), scaled, np.tanh(scaled @ inner + bias)])

    trained, checked = features(training), features(samples["validation_signals"])
    fitted = [_Bayesian.fit(trained, force) for force in samples["training_force"].T]
    log_scales = [
        _fit_log_scale(checked, force, one)
        for force, one in zip(samples["validation_force"].T, fitted, strict=True)
    ]

    def predict(signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inputs = features(signals)
        mean = np.column_stack([one.mean(inputs) for one in fitted])
        sd = np.column_stack([one.sd(inputs) for one in fitted])
        factor = np.column_stack([np.exp(0.5 * one.mean(inputs)) for one in log_scales])
        return mean, sd * np.clip(factor, *_SD_RANGE)

    return predict


@dataclass(frozen=True)
class _Bayesian:
    """Posterior of a linear regression: weights ~ N(weights, covariance), noise variance."""

    weights: np.ndarray
    covariance: np.ndarray
    noise: float

    @classmethod
    def fit(cls, inputs: np.ndarray, output: np.ndarray) -> _Bayesian:
        """Posterior at the evidence's maximum, by MacKay's fixed point."""
        # once: every step of the fixed point works in these axes
        values, vectors = np.linalg.eigh(inputs.T @ inputs)
        values = np.maximum(values, 0.0)
        projected, energy = vectors.T @ (inputs.T @ output), float(output @ output)
        # weights of unit size, and noise as large as the signal
        precision, noise = 1.0, float(np.var(output))
        for _ in range(_EVIDENCE_STEPS):
            mean = projected / (values + noise * precision)
            # parameters that the data determine (MacKay's gamma)
            effective = float(np.sum(values / (values + noise * precision)))
            residual = energy - 2.0 * float(mean @ projected) + float(mean @ (values * mean))
            precision = effective / float(mean @ mean)
            # a perfect fit leaves no noise, which is divided by
            noise = max(residual, 1e-12 * energy) / (len(output) - effective)
        inverse = 1.0 / (values / noise + precision)
        return cls(vectors @ (projected * inverse / noise), (vectors * inverse) @ vectors.T, noise)

    def mean(self, inputs: np.ndarray) -> np.ndarray:
        return inputs @ self.weights

    def sd(self, inputs: np.ndarray) -> np.ndarray:
        return np.sqrt(self.noise + np.sum((inputs @ self.covariance) * inputs, axis=1))


def _fit_log_scale(inputs: np.ndarray, output: np.ndarray, model: _Bayesian) -> _Bayesian:
    """Regression of log(error^2 / variance), less its mean for a calibrated Gaussian: the
    variance's log factor.
    """
    # chi-square with one degree of freedom, if calibrated
    ratio = ((output - model.mean(inputs)) / model.sd(inputs)) ** 2
    # 1e-6: an error of zero has no logarithm
    return _Bayesian.fit(inputs, np.log(ratio + 1e-6) - _LOG_CHI_SQUARE_MEAN)

"""Optimizer: the four that a study file can name, each in its fastest form on the device.

torch's optimizer classes load its compiler when the first one is made, which costs every worker
about a second; the functions underneath them do not, and the arithmetic is the same.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.optim.adam import adam
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd

from sweep.spec.training import TrainingValues

Moments: TypeAlias = dict[str, list[Tensor]]
"""What an optimizer remembers: by name, one tensor for each of the weights."""

ADAM_BETAS = (0.9, 0.999)
RMSPROP_BETAS = (0.0, 0.99)
UNBIASED_STEPS = 1e9
"""So many steps that 0.99 to their power is nothing, and one more makes no difference in fp32."""
EPSILON = 1e-8


class Optimizer:
    """Updates weights in place by their gradients; weights without a gradient stay.

    A gradient scaler drives it as it drives torch's own fused ones: it reads `param_groups`, and
    sets `grad_scale` and `found_inf` around a step, which need not wait for the device then.
    """

    grad_scale: Tensor
    found_inf: Tensor

    def __init__(self, parameters: Iterable[nn.Parameter], training: TrainingValues) -> None:
        self.weights = [weight for weight in parameters if weight.requires_grad]
        self.param_groups = [{"params": self.weights}]
        self.lr = 0.0
        self._kind = training.optimizer
        self._momentum = training.momentum
        self._weight_decay = training.weight_decay
        self._moments = _first_moments(training.optimizer, self.weights)
        self._step_supports_amp_scaling = True

    def step(self) -> None:
        """The weights after one step at `lr`."""
        used = [i for i, weight in enumerate(self.weights) if weight.grad is not None]
        weights = [self.weights[i] for i in used]
        gradients = [weight.grad for weight in weights]
        moments = {name: [each[i] for i in used] for name, each in self._moments.items()}
        with torch.no_grad():
            self._update(weights, gradients, moments)

    def state(self) -> Moments:
        """The live moments."""
        return self._moments

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the moments that `state()` gave."""
        for name, moments in self._moments.items():
            for moment, stored in zip(moments, state[name], strict=True):
                moment.copy_(stored)

    def _update(self, weights: list[Any], gradients: list[Any], moments: Moments) -> None:
        if self._kind == "sgd":
            self._sgd(weights, gradients, moments)
        else:
            self._adam(weights, gradients, moments)

    def _sgd(self, weights: list[Any], gradients: list[Any], moments: Moments) -> None:
        sgd(
            weights,
            gradients,
            moments["momentum"],  # type: ignore[arg-type]
            foreach=False,
            fused=True,
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            weight_decay=self._weight_decay,
            momentum=self._momentum,
            lr=self.lr,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )

    def _adam(self, weights: list[Any], gradients: list[Any], moments: Moments) -> None:
        """Adam, AdamW, and RMSprop, of which torch has no fused form.

        RMSprop is Adam whose mean is the gradient itself, after so many steps that its bias is
        gone: the same update, in one kernel instead of six for each weight.
        """
        function = adamw if self._kind == "adamw" else adam
        beta1, beta2 = RMSPROP_BETAS if self._kind == "rmsprop" else ADAM_BETAS
        function(
            weights,
            gradients,
            moments["mean"],
            moments["square"],
            [],
            moments["steps"],
            foreach=False,
            fused=True,
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            amsgrad=False,
            beta1=beta1,
            beta2=beta2,
            lr=self.lr,
            weight_decay=self._weight_decay,
            eps=EPSILON,
            maximize=False,
        )


def _first_moments(kind: str, weights: list[nn.Parameter]) -> Moments:
    def zeros() -> list[Tensor]:
        return [torch.zeros_like(weight, requires_grad=False) for weight in weights]

    if kind == "sgd":
        return {"momentum": zeros()}
    num_steps = UNBIASED_STEPS if kind == "rmsprop" else 0.0
    steps = [torch.full((), num_steps, device=weight.device) for weight in weights]
    return {"mean": zeros(), "square": zeros(), "steps": steps}

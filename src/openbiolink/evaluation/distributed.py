"""One evaluation by several processes that `torchrun` started: batches are dealt out, counts are added up.

    torchrun --nproc-per-node 2 -m openbiolink evaluate DATASET --embeddings DIR --model distmult --distributed

Counts are whole numbers, so the sum is the same for any number of processes.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.evaluation.fused import Shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openbiolink.evaluation.fused import Counts

GIVEN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@contextmanager
def torchrun_shard() -> Iterator[Shard]:
    """This process's part of the work, while its group of processes stands.

    Raises:
        InputError: PyTorch is absent, or `torchrun` did not start this process.
    """
    try:
        import torch
        from torch import distributed
    except ImportError as error:
        raise InputError("a distributed evaluation needs PyTorch; install openbiolink[torch]") from error
    if absent := [name for name in GIVEN if name not in os.environ]:
        raise InputError(
            f"a distributed evaluation is started by torchrun, which sets {', '.join(absent)}; say "
            "torchrun --nproc-per-node N -m openbiolink evaluate … --distributed"
        )
    distributed.init_process_group("gloo")
    try:

        def total(counts: Counts) -> Counts:
            tensor = torch.from_numpy(counts.copy())
            distributed.all_reduce(tensor)
            summed: Counts = tensor.numpy()
            return summed

        yield Shard(number=distributed.get_rank(), of=distributed.get_world_size(), total=total)
    finally:
        distributed.destroy_process_group()

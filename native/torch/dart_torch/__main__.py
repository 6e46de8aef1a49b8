"""One rank: `torchrun --standalone --nproc-per-node N -m dart_torch`, driven over rank 0's stdin and stdout."""

import datetime
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from .protocol import Protocol, SampleFault, take_stdout

# Ranks in step are minutes apart at most; the next request may be hours away.
IN_STEP, BETWEEN = datetime.timedelta(minutes=10), datetime.timedelta(days=30)


def main() -> None:
    """Answers requests until one says close, or stdin ends."""
    take_stdout()
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo", timeout=IN_STEP)
    protocol = Protocol(dist.new_group(backend="gloo", timeout=BETWEEN))
    try:
        from .worker import Worker

        worker = Worker(protocol, init_device_mesh(device.type, (dist.get_world_size(),)), device)
        while (request := protocol.next())["do"] != "close":
            try:
                protocol.answer(worker.handle(request))
            except SampleFault as fault:
                protocol.fault(fault)
    except BaseException as error:
        protocol.fail(error)
    dist.barrier(protocol.control)
    protocol.close()
    dist.destroy_process_group()
    protocol.answer({})


main()

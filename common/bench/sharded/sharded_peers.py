"""Sharded softmax + top-K as PyTorch has it over NCCL, a process for each GPU: python3 sharded_peers.py [OUT.json].

gather: all-gather of the logits, softmax, topk. three: all-reduce of the maximum and of the sum, all-gather of values
and of indices. packed: topk and (max, sum) of the shard, one all-gather, merge. bf16, k = 50; a figure is the slowest
rank's, of a CUDA graph of 20 calls, the median of 7 runs, as sharded_bench.cu takes it.
"""

import datetime
import json
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

SHAPES = [(1, 128256), (8, 128256), (64, 151936), (256, 128256), (4096, 50264)]
K, CALLS, RUNS = 50, 20, 7


def gather(x, rank, world):
    whole = torch.empty((world, *x.shape), dtype=x.dtype, device=x.device)
    dist.all_gather_into_tensor(whole, x)
    probability = torch.softmax(whole.transpose(0, 1).reshape(x.shape[0], -1).float(), dim=1)
    return torch.topk(probability, K, dim=1)


def three(x, rank, world):
    values, columns = torch.topk(x, K, dim=1)
    most = values[:, 0].float()
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    total = torch.exp(x.float() - most[:, None]).sum(dim=1)
    dist.all_reduce(total)
    all_values = torch.empty((world, *values.shape), dtype=values.dtype, device=x.device)
    all_columns = torch.empty((world, *columns.shape), dtype=torch.int32, device=x.device)
    dist.all_gather_into_tensor(all_values, values)
    dist.all_gather_into_tensor(all_columns, (columns + rank * x.shape[1]).int())
    values, place = torch.topk(all_values.transpose(0, 1).reshape(x.shape[0], -1), K, dim=1)
    columns = all_columns.transpose(0, 1).reshape(x.shape[0], -1).gather(1, place)
    return torch.exp(values.float() - most[:, None]) / total[:, None], columns


def packed(x, rank, world):
    values, columns = torch.topk(x, K, dim=1)
    values = values.float()
    most = values[:, :1]
    total = torch.exp(x.float() - most).sum(dim=1, keepdim=True)
    message = torch.cat([values, (columns + rank * x.shape[1]).int().view(torch.float32), total], dim=1)
    received = torch.empty((world, *message.shape), device=x.device)
    dist.all_gather_into_tensor(received, message)
    received = received.transpose(0, 1)
    of_rank = received[:, :, 0]
    most = of_rank.amax(dim=1, keepdim=True)
    total = (received[:, :, -1] * torch.exp(of_rank - most)).sum(dim=1, keepdim=True)
    values, place = torch.topk(received[:, :, :K].reshape(x.shape[0], -1), K, dim=1)
    columns = received[:, :, K : 2 * K].reshape(x.shape[0], -1).gather(1, place).view(torch.int32)
    return torch.exp(values - most) / total, columns


def time(call, x, rank, world):
    """Microseconds of a call on this rank, of each run."""
    for _ in range(3):
        call(x, rank, world)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call(x, rank, world)
    microseconds = []
    for run in range(-2, RUNS):  # two for warming up
        dist.barrier()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        if run >= 0:
            microseconds.append(1e3 * begin.elapsed_time(end) / CALLS)
    return microseconds


def work(rank, world, out):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=torch.device("cuda", rank))
    results = {}
    for rows, cols in SHAPES:
        torch.manual_seed(rank)
        x = (3 * torch.randn(rows, cols // world, device="cuda")).bfloat16()
        for call in (gather, three, packed):
            mine = torch.tensor(time(call, x, rank, world), device="cuda")
            dist.all_reduce(mine, op=dist.ReduceOp.MAX)
            runs = mine.tolist()
            results.setdefault(f"{rows}x{cols}", {})[call.__name__] = round(statistics.median(runs), 2)
            if rank == 0:
                print(f"{rows:5} x {cols:6}  {call.__name__:8} {statistics.median(runs):8.1f}", flush=True)
    if rank == 0 and out:
        facts = {"machine": f"{world} x {torch.cuda.get_device_name()}", "date": datetime.date.today().isoformat(),
                 "command": "python3 common/bench/sharded/sharded_peers.py", "devices": world, "torch": torch.__version__,
                 "nccl": ".".join(map(str, torch.cuda.nccl.version())), "dtype": "bf16", "k": K, "calls_in_graph": CALLS, "runs": RUNS}
        with open(out, "w", encoding="utf-8") as file:
            json.dump({**facts, **results}, file, indent=1)
    dist.barrier()
    torch.cuda.synchronize()
    os._exit(0)  # a process group that captured graphs may wait for ever when it is destroyed


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29533")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    processes.spawn(work, (torch.cuda.device_count(), sys.argv[1] if len(sys.argv) > 1 else None), nprocs=torch.cuda.device_count())

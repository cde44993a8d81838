"""Writes vectors.json: what PyTorch Geometric's SAGEConv computes on a small sub-graph.

Needs PyTorch and PyTorch Geometric, which nothing else here does:

    python3 -m venv venv && venv/bin/pip install torch==2.11.0 torch_geometric
    venv/bin/python trainer/learn/tests/sage/make_vectors.py

The sub-graph has two hops, parallel edges, self-loops, edges back to earlier
hops, and nodes without in-edges; its nodes are not in the order of their ids.
"""
import json
import pathlib

import torch
import torch_geometric
from torch_geometric.nn import SAGEConv

WIDTHS = [6, 8, 4]
NODES = 20            # of the graph
SAMPLES = [13, 4, 7, 0, 19, 2, 11, 8, 5]
NODES_PER_HOP = [4, 3, 2]
EDGES = [[(4, 0), (5, 0), (5, 0), (1, 1), (0, 3), (6, 3), (2, 3)],
         [(7, 4), (8, 4), (4, 4), (0, 5), (7, 6), (7, 6), (3, 6), (8, 6)]]
LABELS = [2, 0, 3, 1]  # of the seeds


def numbers(tensor):
    """Nine digits tell every float32 from its neighbours."""
    return [float(f"{value:.9g}") for value in tensor.detach().flatten().tolist()]


def main():
    generator = torch.Generator().manual_seed(20)
    convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(WIDTHS, WIDTHS[1:]))
    with torch.no_grad():
        for parameter in convs.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 2)
    features = torch.randn((NODES, WIDTHS[0]), generator=generator)

    edge_index = torch.tensor([edge for hop in EDGES for edge in hop]).t().contiguous()
    x = features[torch.tensor(SAMPLES)]
    for i, conv in enumerate(convs):
        x = conv(x if i == 0 else x.relu(), edge_index)
    logits = x[: NODES_PER_HOP[0]]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(LABELS))
    loss.backward()

    vectors = {
        "made_with": f"torch {torch.__version__.split('+')[0]}, torch_geometric {torch_geometric.__version__}",
        "widths": WIDTHS,
        "nodes": NODES,
        "samples": SAMPLES,
        "nodes_per_hop": NODES_PER_HOP,
        "edges_per_hop": [len(hop) for hop in EDGES],
        "rows": edge_index[0].tolist(),
        "cols": edge_index[1].tolist(),
        "labels": LABELS,
        "features": numbers(features),
        "logits": numbers(logits),
        "loss": numbers(loss)[0],
        "parameters": {f"convs.{n}": numbers(p) for n, p in convs.named_parameters()},
        "gradients": {f"convs.{n}": numbers(p.grad) for n, p in convs.named_parameters()},
    }
    lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in vectors.items())
    pathlib.Path(__file__).with_name("vectors.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()

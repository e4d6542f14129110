"""Citation networks with PyG."""

from .common import case, cora, dense_features, train_step


def two_layer_pyg(make, dropout, activation, lr=0.01):
    import torch
    import torch_geometric.nn  # noqa: F401  (an import, not work)

    data = cora()
    x, edge_index = dense_features(data), data["edge_index"]

    def build():
        import torch.nn.functional as F

        net = torch.nn.ModuleList(make(data["d"], data["classes"]))

        def model():
            h = F.dropout(x, dropout, training=True)
            h = activation(net[0](h, edge_index))
            return net[1](F.dropout(h, dropout, training=True), edge_index)

        return train_step(model, net.parameters(), data, lr=lr)

    return build


@case
def gcn_pyg():
    import torch
    from torch_geometric.nn import GCNConv

    return two_layer_pyg(lambda d, c: [GCNConv(d, 16, cached=True), GCNConv(16, c, cached=True)], 0.5, torch.relu)


@case
def sage_pyg():
    import torch
    from torch_geometric.nn import SAGEConv

    return two_layer_pyg(lambda d, c: [SAGEConv(d, 16), SAGEConv(16, c)], 0.5, torch.relu)


@case
def gat_pyg():
    import torch
    from torch_geometric.nn import GATConv

    def make(d, c):
        return [GATConv(d, 8, heads=8, dropout=0.6), GATConv(64, c, heads=1, concat=False, dropout=0.6)]

    return two_layer_pyg(make, 0.6, torch.nn.functional.elu, lr=0.005)


@case
def gcnii64_pyg():
    import torch
    import torch.nn.functional as F
    from torch_geometric.nn import GCN2Conv
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    data = cora()
    x = dense_features(data)
    edge_index, edge_weight = gcn_norm(data["edge_index"], None, data["n"], add_self_loops=True)

    def build():
        first, last = torch.nn.Linear(data["d"], 64), torch.nn.Linear(64, data["classes"])
        convs = torch.nn.ModuleList(
            GCN2Conv(64, 0.1, 0.5, layer + 1, shared_weights=True, normalize=False) for layer in range(64)
        )

        def model():
            h = h0 = first(F.dropout(x, 0.6)).relu()
            for conv in convs:
                h = conv(F.dropout(h, 0.6), h0, edge_index, edge_weight).relu()
            return last(F.dropout(h, 0.6))

        groups = [
            {"params": convs.parameters(), "weight_decay": 0.01},
            {"params": [*first.parameters(), *last.parameters()], "weight_decay": 5e-4},
        ]
        return train_step(model, groups, data)

    return build

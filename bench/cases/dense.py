"""The paper's equations over all pairs, densely."""

from .common import case


def dense_generator(scorer, n=2708, d=64):
    """x -> encoder -> scores of all pairs -> Gumbel noise -> softmax sample -> k -> sort, select -> A @ x^."""
    import torch
    import torch.nn.functional as F

    torch.manual_seed(0)
    x = torch.randn(n, d)

    def build():
        nn = torch.nn
        encode = nn.Linear(d, d)
        t = nn.Parameter(torch.tensor(-2.0))
        to_i, to_j, last = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, 1)
        both = nn.Linear(2 * d, d)
        to_mu, to_logvar, to_k = nn.Linear(d, 8), nn.Linear(d, 8), nn.Linear(8, 1)
        rank = torch.arange(1, n + 1).float()
        parts = [encode, to_i, to_j, both, last, to_mu, to_logvar, to_k]
        parameters = [t] + [p for part in parts for p in part.parameters()]

        def log_p(u):
            if scorer == "distance":
                square = u.pow(2).sum(1)
                gap = torch.addmm(square[None], u, u.T, alpha=-2).add(square[:, None])
                return -F.softplus(t) * gap.clamp(min=1e-12).sqrt()
            if scorer == "mlp_cat":
                c = both(torch.cat([u[:, None].expand(n, n, d), u[None].expand(n, n, d)], 2))
            else:
                c = to_i(u)[:, None] + to_j(u)[None]
            c = F.leaky_relu(c, 0.01)
            return F.logsigmoid(last(c).squeeze(2))

        def step():
            for p in parameters:
                p.grad = None
            u = F.leaky_relu(encode(x), 0.01)
            noise = -torch.log(torch.empty(n, n).exponential_())
            e = torch.softmax(log_p(u) + noise, 1)
            logvar = to_logvar(u)
            z = to_mu(u) + torch.randn(n, 8) * torch.exp(logvar / 2)
            k = 1 + F.softplus(to_k(z).squeeze(1) + e.sum(1) - 1)
            ordered, index = torch.sort(e, dim=1, descending=True)
            chosen = ordered * torch.sigmoid(2 * (k[:, None] + 0.5 - rank))
            a = torch.zeros(n, n).scatter(1, index, chosen)
            (a @ u).pow(2).mean().backward()

        return step

    return build


@case
def dense_distance():
    return dense_generator("distance")


@case
def dense_mlp():
    """The pair MLP with its first layer split into two node-level products, then added by broadcasting."""
    return dense_generator("mlp")


@case
def dense_mlp_cat():
    """The pair MLP on the concatenation [x^_i, x^_j], as the paper writes it."""
    return dense_generator("mlp_cat")

"""Point clouds."""

from .common import case


@case
def edgeconv():
    """gather, cat(x_j - x_i, x_i), 1x1 convolution, batch norm, LeakyReLU(.2), max: 8 x 1024 points, k = 20."""
    import torch

    torch.manual_seed(0)
    clouds, points, k, c = 8, 1024, 20, 64
    x = torch.randn(clouds, c, points)
    position = torch.randn(clouds, points, 3)
    near = torch.cdist(position, position).topk(k, largest=False).indices
    near = (near + torch.arange(clouds)[:, None, None] * points).reshape(-1)

    def build():
        nn = torch.nn
        net = nn.Sequential(nn.Conv2d(2 * c, c, 1, bias=False), nn.BatchNorm2d(c), nn.LeakyReLU(0.2))
        with torch.no_grad():
            net[1].weight.copy_(torch.randn(c))
        x.requires_grad_()
        probe = torch.randn(clouds, c, points)

        def step():
            x.grad = None
            net.zero_grad()
            nodes = x.transpose(1, 2).reshape(clouds * points, c)
            other = nodes[near].view(clouds, points, k, c)
            own = nodes.view(clouds, points, 1, c).expand(-1, -1, k, -1)
            message = torch.cat([other - own, own], 3).permute(0, 3, 1, 2).contiguous()
            out = net(message).max(3).values
            (out * probe).sum().backward()

        return step

    return build


def knn_case(n, d):
    def run():
        import torch

        torch.manual_seed(0)
        x = torch.randn(n, d)

        def build():
            def step():
                with torch.no_grad():
                    torch.cdist(x, x).topk(20, largest=False)

            return step

        return build

    run.__name__ = f"knn_{n}_{d}"
    run.__doc__ = f"torch.cdist + topk, k = 20, {n} points in {d} dimensions."
    return case(run)


for _n in (1024, 8192):
    for _d in (3, 64):
        knn_case(_n, _d)

//! The network: recurrence, goals, prior and decoder.

use super::{Blend, DagNetConfig, loss::halves};
use crate::{
    Error, Result,
    graph::Adjacency,
    kernels::random::Key,
    nets::{
        GraphAttention, GraphAttentionConfig, Propagation, propagate,
        units::{Extractor, Gru, Mlp, MlpConfig, linear, rectified, rows_of},
    },
    nn::{Linear, Start},
};
use burn::{
    module::{Module, Param},
    tensor::{
        Device, Int, Tensor,
        activation::{log_softmax, softmax},
    },
};

/// DAG-Net. With x the step of an agent, g its goal (a cell), d the places of all agents of its scene,
/// h its state, and t running from the second moment on:
/// ```text
/// q(z_t) = N(encoder[phi x_t, g_t, h_t-1])        prior p(z_t) = N(prior[g_t, h_t-1])
/// p(x_t) = N(decoder[d_t-1, g_t, phi z_t, h_t-1])
/// s_t    = softmax(l_t), l_t = goal[d_t-1, g_t-1, h_t-1]
/// p(g_t) = softmax(blend[s_t, attention(s_t; A_t-1)])
/// k_t    = GRU2(GRU1([phi x_t, phi z_t]))         h_t = blend[attention(k_t; A_t), k_t]
/// ```
/// Where the weights of the graphs A enter is said at [`GraphAttention`]. A generator may hand on its features x^:
/// then encoder, prior, decoder and goals see `h_t + D^-1 (A_t + I) V x^_t` in place of h_t, while the recurrence goes
/// on with h_t. Gradients reach the generator through x^ as well as through the weights. The recurrence is left out so
/// that it cannot make out of the places in x^, moment by moment, the true steps that noise on [`Moments::seen`] is
/// there to hide.
///
/// The public code differs in ways that its equations do not ask for; `faithful` brings them back:
/// * it takes d and A of the goals from moment t, when the step to be predicted is done already (and
///   from t - 1 when it predicts);
/// * z is drawn with uniform instead of normal noise;
/// * the "cross-entropy" of goals is `-sum g p`, without a logarithm, summed over agents;
/// * graphs are masks: any weight above 0 counts as 1;
/// * places are raw metres, and goals are drawn in proportion to `exp p` instead of `p`;
/// * variances have no bounds.
///
/// One quirk is not brought back: when the public code predicts, goals of observed moments look at the
/// future; ours are then made of what was observed. In training both see whole tracks, so goals of the last
/// observed moments know more there than when predicting. To be wholly like the public code, goals must also
/// be in the frame of the world and blended by a dense matrix, which are settings of their own.
#[derive(Module, Debug)]
pub struct DagNet {
    /// First layer of the goals, on `[d, g, h]`.
    pub goal: Linear,
    /// Second layer of the goals.
    pub goal_out: Linear,
    /// Attention over goals.
    pub goal_graph: GraphAttention,
    /// Joins goals before and after the attention, on `[s, attended]` ([`Blend::Dense`]).
    pub goal_blend: Option<Linear>,
    /// What a goal that others have adds to its logit, `[cells]` ([`Blend::Residual`]).
    pub goal_scale: Option<Param<Tensor<1>>>,
    /// Attention over states.
    pub state_graph: GraphAttention,
    /// What states get of the generator's features, if they get any.
    pub handed: Option<Linear>,
    /// Joins states, on `[attended, k]`.
    pub state_blend: Linear,
    /// Features of steps.
    pub phi_x: Extractor,
    /// Features of latent variables.
    pub phi_z: Extractor,
    /// The posterior, on `[phi x, g, h]`: means, then logarithms of variances.
    pub encoder: Mlp,
    /// The prior, on `[g, h]`.
    pub prior: Mlp,
    /// The step, on `[d, g, phi z, h]`.
    pub decoder: Mlp,
    /// The recurrence, on `[phi x, phi z]`.
    pub rnn: Vec<Gru>,
    #[module(skip)]
    config: DagNetConfig,
    most_agents: usize,
    cells: usize,
}

/// What is known of a stretch of time. Rows are agents: all of them at the first step, then all at the
/// second, and so on.
#[derive(Clone, Debug)]
pub struct Moments {
    /// The steps x, `[steps * agents, 2]`.
    pub steps: Tensor<2>,
    /// What the recurrence sees of them: x itself or, in training, x with noise.
    pub seen: Tensor<2>,
    /// The places d, `[steps * agents, 2 * most agents]`.
    pub places: Tensor<2>,
    /// The goals one moment earlier, `[steps * agents]`.
    pub goals_before: Tensor<1, Int>,
    /// The goals, `[steps * agents]`.
    pub goals: Tensor<1, Int>,
    /// The graph that goals are exchanged over, on all rows.
    pub goal_graph: Adjacency,
    /// The graph that states are exchanged over, one per step.
    pub state_graphs: Vec<Adjacency>,
    /// The generator's features x^ at the end of every step, `[steps * agents, width]`, if they are used.
    pub encoded: Option<Tensor<2>>,
    /// Noise of the latent variables, `[steps * agents, latent]`; without it they are their means.
    pub noise: Option<Tensor<2>>,
}

/// States of both layers of the recurrence, and what all else sees of them, `[agents, width]`.
pub type State = [Tensor<2>; 3];

/// What the network makes of a stretch of time, row by row.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// `q(z)`: means and logarithms of variances, `[steps * agents, 2 latent]`.
    pub posterior: Tensor<2>,
    /// `p(z)`.
    pub prior: Tensor<2>,
    /// `p(x)`, `[steps * agents, 4]`.
    pub step: Tensor<2>,
    /// `log p(g)`, `[steps * agents, cells]`.
    pub goals: Tensor<2>,
}

/// What the loop over time leaves behind.
struct Recurrence {
    before: Vec<Tensor<2>>,
    posterior: Vec<Tensor<2>>,
    latent: Vec<Tensor<2>>,
    state: State,
}

impl DagNetConfig {
    /// The network for goals among `cells` and scenes in which it looks at the places of up to
    /// `most_agents` agents, with weights drawn from `key`; `encoded` is the width of the generator's features, if
    /// they are handed on.
    ///
    /// # Errors
    /// If a width is 0, or the noise is below it.
    pub fn init(
        &self,
        cells: usize,
        most_agents: usize,
        encoded: Option<usize>,
        key: Key,
        device: &Device,
    ) -> Result<DagNet> {
        let Self { width, latent, heads, head_width, .. } = *self;
        for (name, value) in [
            ("width", width),
            ("latent", latent),
            ("heads", heads),
            ("head_width", head_width),
            ("goals.cells", cells),
            ("most_agents", most_agents),
        ] {
            if value == 0 {
                let expected = "must be at least 1";
                return Err(Error::Setting { name, value: "0".into(), expected });
            }
        }
        let places = 2 * most_agents;
        let attention = |width, child| {
            GraphAttentionConfig { width, heads, head_width }.init(key.child(child), device)
        };
        let mlp = |inputs, outputs, child| {
            MlpConfig { inputs, hidden: width, outputs }.init(key.child(child), device)
        };
        Ok(DagNet {
            goal: linear(places + cells + width, width, key.child(1), device)?,
            goal_out: linear(width, cells, key.child(2), device)?,
            goal_graph: attention(cells, 3)?,
            goal_blend: (self.blend == Blend::Dense)
                .then(|| linear(2 * cells, cells, key.child(4), device))
                .transpose()?,
            goal_scale: (self.blend == Blend::Residual).then(|| {
                Param::from_tensor(Start::Constant(1.0).tensor([cells], [1, 1], key, device))
            }),
            state_graph: attention(width, 5)?,
            handed: encoded
                .map(|encoded| linear(encoded, width, key.child(14), device))
                .transpose()?,
            state_blend: linear(2 * width, width, key.child(6), device)?,
            phi_x: Extractor::new(2, width, key.child(7), device)?,
            phi_z: Extractor::new(latent, width, key.child(8), device)?,
            encoder: mlp(2 * width + cells, 2 * latent, 9)?,
            prior: mlp(cells + width, 2 * latent, 10)?,
            decoder: mlp(places + cells + 2 * width, 4, 11)?,
            rnn: vec![
                Gru::new(2 * width, width, key.child(12), device)?,
                Gru::new(width, width, key.child(13), device)?,
            ],
            config: self.clone(),
            most_agents,
            cells,
        })
    }
}

impl DagNet {
    /// The settings this network was made with.
    pub fn config(&self) -> &DagNetConfig {
        &self.config
    }

    /// How many agents of a scene it looks at the places of.
    pub fn most_agents(&self) -> usize {
        self.most_agents
    }

    /// The state before anything was seen.
    pub fn start(&self, agents: usize) -> State {
        let like = self.goal.weight.val();
        let zeros = || Tensor::zeros([agents, self.config.width], (&like.device(), like.dtype()));
        [zeros(), zeros(), zeros()]
    }

    /// All distributions of a stretch of time whose steps and goals are known. Gradients flow to all
    /// weights, and through the graphs to whoever made them.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn unroll(&self, moments: &Moments) -> Result<Unrolled> {
        let Recurrence { before, posterior, latent, .. } = self.recur(moments)?;
        let (h, phi_z) = (Tensor::cat(before, 0), Tensor::cat(latent, 0));
        let Moments { places, goals_before, goals, goal_graph, .. } = moments;
        Ok(Unrolled {
            posterior: Tensor::cat(posterior, 0),
            prior: self.prior(goals.clone(), &h)?,
            step: self.decode(places, goals.clone(), phi_z, &h)?,
            goals: self.goals(places, goals_before.clone(), &h, goal_graph)?,
        })
    }

    /// The state at the end of a stretch of time.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn observe(&self, moments: &Moments) -> Result<State> {
        Ok(self.recur(moments)?.state)
    }

    fn recur(&self, moments: &Moments) -> Result<Recurrence> {
        let DagNetConfig { width, .. } = self.config;
        let [rows, _] = moments.steps.dims();
        let agents = rows / moments.state_graphs.len().max(1);
        let mut found = Recurrence {
            before: Vec::new(),
            posterior: Vec::new(),
            latent: Vec::new(),
            state: self.start(agents),
        };
        let [of_x, of_goal, of_h] = rows_of(&self.encoder.first, [width, self.cells, width]);
        let of_both = Tensor::cat(vec![of_x, of_h], 0);
        for (at, graph) in moments.state_graphs.iter().enumerate() {
            let now = at * agents..(at + 1) * agents;
            let h = found.state[2].clone();
            let phi_x = self.phi_x.forward(moments.seen.clone().slice(now.clone()))?;
            let product = beside(phi_x.clone(), h.clone()).matmul(of_both.clone())
                + of_goal.clone().select(0, moments.goals.clone().slice(now.clone()));
            let posterior = self.encoder.forward(product)?;
            let noise = moments.noise.as_ref().map(|noise| noise.clone().slice(now.clone()));
            let encoded = moments.encoded.as_ref().map(|encoded| encoded.clone().slice(now));
            let phi_z = self.phi_z.forward(self.draw(&posterior, noise))?;
            found.before.push(h);
            found.posterior.push(posterior);
            found.latent.push(phi_z.clone());
            found.state = self.advance([phi_x, phi_z], &found.state, graph, encoded)?;
        }
        Ok(found)
    }

    /// `m + exp(v / 2) noise` from means m and logarithms of variances v side by side.
    pub fn draw(&self, parameters: &Tensor<2>, noise: Option<Tensor<2>>) -> Tensor<2> {
        let (mean, log_variance) = halves(parameters, self.config.faithful);
        match noise {
            None => mean,
            Some(noise) => mean + (log_variance * 0.5).exp() * noise,
        }
    }

    /// The next state.
    pub fn advance(
        &self,
        [phi_x, phi_z]: [Tensor<2>; 2],
        [first, second, _]: &State,
        graph: &Adjacency,
        encoded: Option<Tensor<2>>,
    ) -> Result<State> {
        let [one, two] = [&self.rnn[0], &self.rnn[1]];
        let first = one.forward(beside(phi_x, phi_z).matmul(one.input.weight.val()), first)?;
        let k = two.forward(first.clone().matmul(two.input.weight.val()), second)?;
        let attended = self.state_graph.forward(k.clone(), graph)?;
        let second = self.state_blend.forward_dense(beside(attended, k));
        let seen = match (&self.handed, encoded) {
            (Some(handed), Some(encoded)) => {
                let told = handed.forward_dense(encoded);
                second.clone() + propagate(graph, &told, Propagation::Row)?
            }
            _ => second.clone(),
        };
        Ok([first, second, seen])
    }

    /// `log p(g)`, `[rows, cells]`.
    pub fn goals(
        &self,
        places: &Tensor<2>,
        goals_before: Tensor<1, Int>,
        h: &Tensor<2>,
        graph: &Adjacency,
    ) -> Result<Tensor<2>> {
        let widths = [2 * self.most_agents, self.cells, self.config.width];
        let [of_places, of_goal, of_h] = rows_of(&self.goal, widths);
        let product = places.clone().matmul(of_places)
            + of_goal.select(0, goals_before)
            + h.clone().matmul(of_h);
        let logits = self.goal_out.forward_dense(rectified(&self.goal, product, 0.0)?);
        let own = softmax(logits.clone(), 1);
        let attended = self.goal_graph.forward(own.clone(), graph)?;
        let blended = match (&self.goal_blend, &self.goal_scale) {
            (Some(blend), _) => {
                let [of_own, of_attended] = rows_of(blend, [self.cells; 2]);
                blend.add_bias(own.matmul(of_own) + attended.matmul(of_attended))
            }
            (None, Some(scale)) => logits + attended * scale.val().unsqueeze(),
            (None, None) => logits,
        };
        Ok(log_softmax(blended, 1))
    }

    /// `p(z)`.
    pub fn prior(&self, goals: Tensor<1, Int>, h: &Tensor<2>) -> Result<Tensor<2>> {
        let [of_goal, of_h] = rows_of(&self.prior.first, [self.cells, self.config.width]);
        let product = of_goal.select(0, goals) + h.clone().matmul(of_h);
        self.prior.forward(product)
    }

    /// `p(x)`.
    pub fn decode(
        &self,
        places: &Tensor<2>,
        goals: Tensor<1, Int>,
        phi_z: Tensor<2>,
        h: &Tensor<2>,
    ) -> Result<Tensor<2>> {
        let width = self.config.width;
        let widths = [2 * self.most_agents, self.cells, width, width];
        let [of_places, of_goal, of_z, of_h] = rows_of(&self.decoder.first, widths);
        let product = places.clone().matmul(of_places)
            + of_goal.select(0, goals)
            + phi_z.matmul(of_z)
            + h.clone().matmul(of_h);
        self.decoder.forward(product)
    }
}

fn beside(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    Tensor::cat(vec![a, b], 1)
}

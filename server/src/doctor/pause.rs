//! Whether something is paused: a desk that answers 503 is not broken, and somebody should know why.

use engine::Engine;
use model::{Refusal, Time};

use super::Finding;

const SUBJECT: &str = "pause";

/// The pause of everything, and how many agents are paused. Who looks reads the words of whoever paused on the page.
pub(super) async fn examine(engine: &Engine) -> Vec<Finding> {
    match standing(engine).await {
        Ok((None, 0)) => vec![Finding::good(SUBJECT, "nothing is paused.")],
        Ok((everything, agents)) => {
            everything.map(of_everything).into_iter().chain((agents > 0).then(|| of_agents(agents))).collect()
        }
        Err(refusal) => vec![Finding::bad(SUBJECT, refusal.problem().detail, "Look at the database.")],
    }
}

/// Since when everything is paused, and how many agents are paused by themselves.
async fn standing(engine: &Engine) -> Result<(Option<Time>, usize), Refusal> {
    let everything = engine.pause_of_everything().await?.map(|pause| pause.at);
    let agents = engine.all_agents().await?;
    let paused = agents.iter().filter(|agent| agent.pause.is_some() && agent.revoked_at.is_none()).count();
    Ok((everything, paused))
}

fn of_everything(since: Time) -> Finding {
    let found =
        format!("everything has been paused since {since}: calls are answered 503 and nothing is sent.");
    Finding::mind(SUBJECT, found, "When the reason is gone: `countersign agent pause --all --resume`.")
}

fn of_agents(count: usize) -> Finding {
    let found = if count == 1 {
        "one agent is paused: its calls are answered 503.".to_owned()
    } else {
        format!("{count} agents are paused: their calls are answered 503.")
    };
    Finding::mind(SUBJECT, found, "`countersign agent list` names them; `agent pause NAME --resume` ends it.")
}

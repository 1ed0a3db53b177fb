//! Who is in the demo: three people and two agents, made anew each time.

use engine::Engine;
use engine::ambient::Ambient;
use engine::registry::{AgentWanted, PersonWanted};
use model::{Ability, Refusal, Role};

use super::UNDONE;
use super::agent::Keys;
use crate::failure::Failure;

/// A person of the demo.
#[derive(Debug)]
pub(super) struct DemoPerson {
    pub(super) email: &'static str,
    pub(super) name: &'static str,
    pub(super) role: Role,
    /// What to say about them.
    pub(super) part: &'static str,
    pub(super) password: String,
    pub(super) token: String,
}

/// An agent of the demo.
#[derive(Debug)]
pub(super) struct DemoAgent {
    pub(super) name: &'static str,
    pub(super) key: String,
    pub(super) requires_approval: bool,
}

/// Everybody.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) people: Vec<DemoPerson>,
    pub(super) careful: DemoAgent,
    pub(super) quick: DemoAgent,
}

const PEOPLE: [(&str, &str, Role, &str); 3] = [
    ("ann@demo.test", "Ann Ahrens", Role::Member, "owns both agents and decides what they ask"),
    ("max@demo.test", "Max Moreau", Role::Approver, "may decide refunds too"),
    ("olga@demo.test", "Olga Orlova", Role::Operator, "sees every receipt"),
];

/// What a person's token may be used for: everything but managing agents.
const TOKEN_ABILITIES: [Ability; 6] = [
    Ability::ActionsRead,
    Ability::ActionsWrite,
    Ability::ActionsExternal,
    Ability::ActionsDestructive,
    Ability::ReceiptsRead,
    Ability::ApprovalsDecide,
];

impl Cast {
    /// Makes everybody.
    ///
    /// # Errors
    /// When the engine refuses one of them.
    pub(super) async fn assemble(engine: &Engine, ambient: &Ambient) -> Result<Self, Failure> {
        let made = async {
            let mut people = Vec::new();
            for (email, name, role, part) in PEOPLE {
                people.push(person(engine, ambient, email, name, role, part).await?);
            }
            let careful = agent(engine, "careful", true).await?;
            let quick = agent(engine, "quick", false).await?;
            Ok(Self { people, careful, quick })
        };
        made.await.map_err(|refusal: Refusal| Failure::refused(&refusal, UNDONE))
    }

    /// What the agents call with.
    pub(super) fn keys(&self) -> Keys {
        Keys { careful: self.careful.key.clone(), quick: self.quick.key.clone() }
    }
}

async fn person(
    engine: &Engine,
    ambient: &Ambient,
    email: &'static str,
    name: &'static str,
    role: Role,
    part: &'static str,
) -> Result<DemoPerson, Refusal> {
    let password = password(ambient);
    let wanted = PersonWanted {
        email: email.to_owned(),
        name: name.to_owned(),
        roles: vec![role],
        password: Some(password.clone()),
    };
    engine.add_person(wanted).await?;
    let (_, token) = engine.add_token(email, TOKEN_ABILITIES.to_vec()).await?;
    Ok(DemoPerson { email, name, role, part, password, token: token.reveal().to_owned() })
}

async fn agent(engine: &Engine, name: &'static str, requires_approval: bool) -> Result<DemoAgent, Refusal> {
    let agent = AgentWanted {
        name: name.to_owned(),
        owner: PEOPLE[0].0.to_owned(),
        requires_approval,
        abilities: Vec::new(),
        toolset: None,
        session: None,
    };
    let (_, key) = engine.add_agent(agent).await?;
    Ok(DemoAgent { name, key: key.reveal().to_owned(), requires_approval })
}

/// A password that is easy to type: three groups of five letters, 60 bits. No letter is mistaken for another.
fn password(ambient: &Ambient) -> String {
    const LETTERS: &[u8; 16] = b"abcdefhkmnprstwx";
    let letters = ambient.bytes::<15>().map(|byte| char::from(LETTERS[usize::from(byte % 16)]));
    let groups: Vec<String> = letters.chunks(5).map(|group| group.iter().collect()).collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_and_can_be_typed() {
        let (one, other) = (password(&Ambient::system()), password(&Ambient::system()));
        assert_ne!(one, other);
        assert_eq!(one.len(), 17);
        assert!(one.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{one}");
    }
}

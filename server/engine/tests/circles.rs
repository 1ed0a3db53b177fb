//! Groups and tenants: who changes them, and where an action can be run.

mod desk;

use desk::{Desk, parsed};
use engine::registry::PersonWanted;
use engine::{CircleKind, PersonActor};
use model::{Refusal, Role};

async fn admin(desk: &Desk) -> PersonActor {
    let (email, name) = ("ada@desk.test".to_owned(), "Ada".to_owned());
    let wanted = PersonWanted { email, name, roles: vec![Role::Admin], password: None };
    let ada = desk.engine.add_person(wanted).await.expect("a person");
    desk.visitor(&ada).await
}

on_both! {
    async fn admins_alone_change_them(desk: Desk) {
        let ada = admin(&desk).await;
        for kind in [CircleKind::Group, CircleKind::Tenant] {
            for person in [&desk.ann, &desk.max, &desk.olga] {
                let person = desk.visitor(person).await;
                let add = desk.engine.add_to_circle(&person, kind, "north", Some("ann@desk.test")).await;
                let remove = desk.engine.remove_from_circle(&person, kind, "north", None).await;
                assert_eq!((add, remove), (Err(Refusal::NotFound), Err(Refusal::NotFound)));
                assert_eq!(desk.engine.circles(&person, kind).await, Err(Refusal::NotFound));
            }
            desk.engine.add_to_circle(&ada, kind, "north", Some("max@desk.test")).await.expect("added");
            desk.engine.add_to_circle(&ada, kind, "north", Some("ann@desk.test")).await.expect("added");
            let there = desk.engine.circles(&ada, kind).await.expect("circles");
            assert_eq!((there[0].name.as_str(), there[0].members.join(" ").as_str()), ("north", "ann@desk.test max@desk.test"));
            assert_eq!(desk.engine.remove_from_circle(&ada, kind, "north", Some("ann@desk.test")).await, Ok(true));
            assert_eq!(desk.engine.remove_from_circle(&ada, kind, "north", Some("ann@desk.test")).await, Ok(false));
            assert_eq!(desk.engine.remove_from_circle(&ada, kind, "north", None).await, Ok(true));
            assert_eq!(desk.engine.circles(&ada, kind).await, Ok(vec![]));
        }
        assert!(desk.engine.add_to_circle(&ada, CircleKind::Group, "north", None).await.is_err(), "a group begins with somebody");
        desk.engine.add_to_circle(&ada, CircleKind::Tenant, "south", None).await.expect("a tenant may be empty");
    }
}

on_both! {
    async fn what_the_end_of_one_would_touch_is_told_before(desk: Desk) {
        let ada = admin(&desk).await;
        let engine = &desk.engine;
        let action = |name: &str, more: &str| format!(
            "[[action]]\nname = \"{name}\"\ntitle = \"Do {name}\"\ndescription = \"D\"\neffect = \"write\"\n{more}\ninput = {{ type = \"object\", properties = {{}} }}\nrequest = {{ method = \"POST\", url = \"https://a.test/\" }}\n"
        );
        let text = action("theirs", "approvers = [\"group:north\"]")
            + &action("also_ours", "approvers = [\"group:north\", \"person:ann@desk.test\"]")
            + &action("placed", "tenants = [\"north\"]\napprovers = [\"person:ann@desk.test\"]");
        engine.replace_catalogue(parsed(&text));
        engine.add_to_group("north", "max@desk.test").await.expect("added");
        engine.add_to_group("south", "max@desk.test").await.expect("added");
        engine.add_tenant("north", Some("ann@desk.test")).await.expect("a tenant");
        for name in ["theirs", "theirs", "also_ours"] {
            desk.held(desk.careful(name, serde_json::json!({})).await).await;
        }
        let placed = desk.careful("placed", serde_json::json!({})).await;
        desk.held(engine::Arrival { tenant: Some("north".to_owned()), ..placed }).await;
        let touched = async |kind| {
            let circles = engine.circles(&ada, kind).await.expect("circles");
            circles.into_iter().map(|one| (one.name, one.held, one.actions.join(", "))).collect::<Vec<_>>()
        };
        let told = |name: &str, held, actions: &str| (name.to_owned(), held, actions.to_owned());
        assert_eq!(touched(CircleKind::Group).await, [told("north", 2, "Do theirs, Do also_ours"), told("south", 0, "")]);
        assert_eq!(touched(CircleKind::Tenant).await, [told("north", 1, "Do placed")]);
        let olga = desk.visitor(&desk.olga).await;
        assert_eq!(engine.circles_of(&olga, desk.max.id).await, Ok((vec!["north".to_owned(), "south".to_owned()], vec![])));
        assert_eq!(engine.circles_of(&desk.visitor(&desk.max).await, desk.max.id).await, Err(Refusal::NotFound));
        engine.remove_from_circle(&ada, CircleKind::Group, "north", None).await.expect("removed");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM call_approvers WHERE subject = 'role:operator'").await, 2);
    }
}

on_both! {
    async fn an_action_is_run_where_it_is_and_where_that_matters(desk: Desk) {
        let action = |name: &str, more: &str| format!(
            "[[action]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D\"\neffect = \"write\"\n{more}\ninput = {{ type = \"object\", properties = {{}} }}\nrequest = {{ method = \"POST\", url = \"https://a.test/\" }}\n"
        );
        let text = action("anywhere", "")
            + &action("north_only", "tenants = [\"north\"]")
            + &action("by_rule", "authorize = \"caller.tenant != 'south'\"")
            + &action("hidden", "expose = [\"api\"]");
        desk.engine.replace_catalogue(parsed(&text));
        let ann = desk.visitor(&desk.ann).await;
        let places = async |name: &str| {
            let places = desk.engine.tenants_to_run_in(&ann, name).await.expect("places");
            places.into_iter().map(|place| place.unwrap_or_else(|| "-".to_owned())).collect::<Vec<_>>().join(" ")
        };
        let runnable = async || {
            let actions = desk.engine.runnable(&ann).await.expect("actions");
            actions.into_iter().map(|action| action.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((places("north_only").await.as_str(), runnable().await.as_str()), ("", "anywhere by_rule"));
        for tenant in ["south", "north"] {
            desk.engine.add_tenant(tenant, Some("ann@desk.test")).await.expect("a tenant");
        }
        assert_eq!(runnable().await, "anywhere north_only by_rule");
        for (name, expected) in [("anywhere", "-"), ("north_only", "north"), ("by_rule", "- north"), ("hidden", ""), ("no_such", "")] {
            assert_eq!(places(name).await, expected, "{name}");
        }
    }
}

//! A held call in rounds.

use serde_json::{Value, json};

use super::fixture::{Client, House, NEWEST, Reply};

/// The first round: the client's own answer to it, and the call.
async fn held(client: &Client) -> (String, String, Value) {
    let asked = client.tool("send_mail", json!({ "to": "bo" })).await;
    let state = asked["requestState"].as_str().expect("a state").to_owned();
    let id = asked["_meta"]["countersign/call"]["id"].as_str().expect("an id").to_owned();
    (state, id, asked)
}

fn elicits(house: &House) -> Client {
    house.client(&house.careful, NEWEST, json!({ "elicitation": { "url": {} } }))
}

async fn bring(client: &Client, state: &str, action: Option<&str>) -> Reply {
    let mut params = json!({ "name": "send_mail", "arguments": { "to": "bo" }, "requestState": state });
    if let Some(action) = action {
        params["inputResponses"] = json!({ "approval": { "action": action } });
    }
    client.ask("tools/call", params).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_is_sent_to_the_page() {
    let house = House::open().await;
    let (state, id, asked) = held(&elicits(&house)).await;
    assert_eq!(asked["resultType"], "input_required");
    let requests = asked["inputRequests"].as_object().expect("requests");
    assert_eq!(requests.len(), 1);
    let question = &requests["approval"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "url");
    assert_eq!(question["params"]["url"], format!("http://127.0.0.1:8087/inbox/{id}"));
    assert!(question["params"]["message"].as_str().expect("words").contains("Send a mail"));
    assert!(state.starts_with("cs1."));
}

#[tokio::test(flavor = "multi_thread")]
async fn accepting_waits_for_the_person() {
    let house = House::open().await;
    let client = elicits(&house);
    let (state, id, _) = held(&client).await;
    let waiting = {
        let (client, state) = (client.clone(), state.clone());
        tokio::spawn(async move { bring(&client, &state, Some("accept")).await })
    };
    house.confirm(&id).await;
    let ended = waiting.await.expect("an answer").json;
    assert_eq!(ended["result"]["resultType"], "complete", "{ended}");
    assert_eq!(ended["result"]["structuredContent"], json!({ "id": "m1" }));
    assert_eq!(ended["result"]["_meta"]["countersign/call"]["status"], "done");
    // The same state after the end: the same end, whatever comes with it, and nothing runs.
    for action in [Some("accept"), Some("decline"), Some("cancel"), None] {
        assert_eq!(bring(&client, &state, action).await.json, ended);
    }
    assert_eq!(house.writes(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persons_no_comes_with_their_words() {
    let house = House::open().await;
    let client = elicits(&house);
    let (state, id, _) = held(&client).await;
    house.decline(&id, "Wrong recipient.").await;
    let ended = bring(&client, &state, Some("accept")).await.json;
    assert_eq!(ended["result"]["isError"], true);
    assert!(ended["result"]["content"][0]["text"].as_str().expect("words").contains("Wrong recipient."));
    assert_eq!(house.writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn declining_the_page_withdraws_and_cancelling_leaves_it_held() {
    let house = House::open().await;
    let client = elicits(&house);
    let (state, id, _) = held(&client).await;
    let left = bring(&client, &state, Some("cancel")).await.json;
    assert!(left["result"]["content"][0]["text"].as_str().expect("words").starts_with("NOT DONE."));
    assert_eq!(
        (&left["result"]["resultType"], house.call(&id).await["status"].clone()),
        (&json!("complete"), json!("held"))
    );
    let back = bring(&client, &state, Some("decline")).await.json;
    assert_eq!(back["result"]["_meta"]["countersign/call"]["status"], "withdrawn");
    assert_eq!(house.call(&id).await["status"], "withdrawn");
    assert_eq!(house.writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_never_an_approval() {
    let house = House::open().await;
    let client = house.client(&house.careful, NEWEST, json!({ "elicitation": { "form": {} } }));
    let plain = client.tool("send_mail", json!({ "to": "bo" })).await;
    assert_eq!((&plain["resultType"], &plain["isError"]), (&json!("complete"), &json!(true)));
    assert!(plain.get("requestState").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_fits_its_own_request_alone() {
    let house = House::open().await;
    let client = elicits(&house);
    let (state, id, _) = held(&client).await;
    let refused = bring(&client, "cs1.00000000.AAAA", Some("accept")).await;
    assert_eq!((refused.status, &refused.json["error"]["code"]), (200, &json!(-32602)));
    let params = |tool: &str, to: &str, state: &str| json!({ "name": tool, "arguments": { "to": to }, "requestState": state, "inputResponses": { "approval": { "action": "decline" } } });
    let altered = format!("{}A", &state[..state.len() - 1]);
    let altered = if altered == state { format!("{}B", &state[..state.len() - 1]) } else { altered };
    for params in
        [params("note", "bo", &state), params("send_mail", "al", &state), params("send_mail", "bo", &altered)]
    {
        assert_eq!(client.ask("tools/call", params).await.text, refused.text, "one and the same error");
    }
    // Another agent of the same person has the same binding; the call is not its own all the same.
    let other = house.client(&house.quick, NEWEST, json!({ "elicitation": { "url": {} } }));
    assert_eq!(bring(&other, &state, Some("decline")).await.text, refused.text);
    assert_eq!(house.call(&id).await["status"], "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_node_goes_on() {
    let house = House::open().await;
    let client = elicits(&house);
    let (state, id, _) = held(&client).await;
    let elsewhere = client.at(house.second_node().await);
    let waiting = tokio::spawn(async move { bring(&elsewhere, &state, Some("accept")).await });
    house.confirm(&id).await;
    assert_eq!(waiting.await.expect("an answer").json["result"]["structuredContent"], json!({ "id": "m1" }));
    assert_eq!(house.writes(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_read_is_an_error_and_changes_nothing() {
    let house = House::open().await;
    let client = elicits(&house);
    let (state, id, _) = held(&client).await;
    let refused = bring(&client, &state, Some("approve")).await;
    assert_eq!(refused.json["error"]["code"], -32602);
    assert_eq!(house.call(&id).await["status"], "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_carry_the_state_alone_and_have_an_end() {
    let house = House::open().await;
    let client = elicits(&house);
    let (mut state, _, _) = held(&client).await;
    // The end of the process ends every wait, so that rounds go by at once.
    house.engine.stop_waiting();
    for round in 1..=6 {
        let next = bring(&client, &state, (round == 1).then_some("accept")).await.json;
        assert_eq!(next["result"]["resultType"], "input_required", "round {round}: {next}");
        assert!(next["result"].get("inputRequests").is_none());
        state = next["result"]["requestState"].as_str().expect("a state").to_owned();
    }
    let last = bring(&client, &state, None).await.json;
    assert_eq!(
        (&last["result"]["resultType"], &last["result"]["isError"]),
        (&json!("complete"), &json!(true))
    );
    assert!(last["result"]["content"][0]["text"].as_str().expect("words").starts_with("NOT DONE."));
}

//! Nobody ever sees a byte that was kept for somebody else.

use http::header::ACCEPT_LANGUAGE;

use super::*;

#[tokio::test]
async fn nobody_gets_what_was_kept_for_another_user_tenant_role_generation_or_key() {
    for bench in benches().await {
        let caches = [cache(&bench), other_replica(&bench)];
        let (acme, globex) = (acme(), globex());
        let (token, other_token) = ([1; 32], [2; 32]);
        let askers = [
            (&acme, user("alice")),
            (&acme, user("bob")),
            (&globex, user("alice")),
            (&acme, Whose::User { key: "alice", role: Role::Administrator, generation: 0 }),
            (&acme, Whose::User { key: "alice", role: Role::Member, generation: 1 }),
            (&acme, Whose::ServerKey { id: "alice" }),
            (&globex, Whose::ServerKey { id: "alice" }),
            (&acme, Whose::ServerKey { id: "other" }),
            (&acme, Whose::Token { fingerprint: &token }),
            (&acme, Whose::Token { fingerprint: &other_token }),
            (&acme, Whose::Public),
            (&globex, Whose::Public),
        ];
        // Everything that is kept, long enough for the store too.
        let operations: [(&str, &[&str], &str); 4] = [
            ("getTask", &["1"], ""),
            ("searchResults", &["1"], "{}"),
            ("searchTasks", &[], "{}"),
            ("getPublishableKey", &[], ""),
        ];
        for (route, parameters, body) in operations {
            for (number, (tenant, whose)) in askers.iter().enumerate() {
                let question = asks(tenant, *whose, route, parameters, body);
                let own = format!(r#"{{"taskStatus":"SUCCESS","of":{number}}}"#);
                let service = Service::saying(&own);
                for cache in &caches {
                    for _ in 0..2 {
                        assert_eq!(cache.get(&question, &service).await.0, own, "{route} for {tenant} {whose:?}");
                    }
                }
                assert!(service.asked() >= 1, "{route} for {tenant} {whose:?} was given what is another's");
            }
        }
    }
}

#[tokio::test]
async fn a_search_is_one_question_however_it_is_written_and_another_for_another_page_or_language() {
    let bench = Bench::file();
    let cache = cache(&bench);
    let search = |body: &str, language: Option<&str>, query: Option<&str>| {
        let (tenant, route) = (acme(), named("searchTasks").unwrap());
        let (body, mut headers) = (body.as_bytes(), HeaderMap::new());
        headers.extend(language.map(|language| (ACCEPT_LANGUAGE, HeaderValue::from_str(language).unwrap())));
        let headers = (&headers, &[ACCEPT_LANGUAGE][..]);
        Question::new(&Asked { tenant: &tenant, whose: user("alice"), route, parameters: &[], query, body, headers })
    };
    let service = Service::saying("[]");
    for body in
        [r#"{"page":0,"size":10}"#, r#"{"size":10,"page":0}"#, "{ \"page\" : 0,\n\"size\":10 }", r#"{"\u0070age":0,"size":10}"#]
    {
        cache.get(&search(body, Some("en"), None), &service).await;
    }
    assert_eq!(service.asked(), 1);
    let others = [
        search(r#"{"page":1,"size":10}"#, Some("en"), None),
        search(r#"{"page":0,"size":10}"#, Some("zh"), None),
        search(r#"{"page":0,"size":10}"#, None, None),
        search(r#"{"page":0,"size":10}"#, Some("en"), Some("")),
        search(r#"{"page":0,"size":10}"#, Some("en"), Some("a=1")),
        search(r#"{"page":0,"size":10"#, Some("en"), None),
        search("", Some("en"), None),
    ];
    for (number, other) in others.iter().enumerate() {
        cache.get(other, &service).await;
        assert_eq!(service.asked(), u32::try_from(number).unwrap() + 2);
    }
}

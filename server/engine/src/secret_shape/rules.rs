//! Well-known forms of tokens, each as its issuer documents it. To add one, add a line here and an example to the tests.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::Fit;

/// What it is called, and its form.
const RULES: &[(&str, &str)] = &[
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("an age secret key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    ("an AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    ("an Azure storage key", r"\bAccountKey=[A-Za-z0-9+/]{86}=="),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("a Google client secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}\b"),
    ("a Google access token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    ("a GitHub token", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    ("a GitLab token", r"\bgl(?:pat|dt|rt|oas|soat|cbt|ptt|ft|imt|agent)-[A-Za-z0-9_-]{20,}"),
    ("an Atlassian token", r"\bATATT3[A-Za-z0-9_=-]{100,}"),
    ("a Slack token", r"\bxox[abceoprs]-[A-Za-z0-9-]{10,}"),
    ("a Slack app token", r"\bxapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{32,}"),
    (
        "a Slack webhook",
        r"\bhooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{20,}",
    ),
    ("a Discord webhook", r"\bdiscord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}"),
    ("a Telegram bot token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("a Stripe key", r"\b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}"),
    ("a Stripe webhook secret", r"\bwhsec_[A-Za-z0-9+/]{24,}"),
    ("a Square token", r"\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}"),
    ("a Shopify token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    ("an OpenAI key", r"\bsk-(?:[a-z]+-)?[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    ("an Anthropic key", r"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{40,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z]{34}\b"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    ("a RubyGems key", r"\brubygems_[a-f0-9]{48}\b"),
    ("a crates.io token", r"\bcio[A-Za-z0-9]{32}\b"),
    ("a Docker token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    ("a Mailgun key", r"\bkey-[0-9a-f]{32}\b"),
    ("a Mailchimp key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("a Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("a HashiCorp Vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}"),
    ("a Databricks token", r"\bdapi[a-f0-9]{32}\b"),
    ("a Linear key", r"\blin_api_[A-Za-z0-9]{40}\b"),
    ("a Notion token", r"\b(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{46})\b"),
    ("a Postman key", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    ("a Supabase token", r"\bsbp_[a-f0-9]{40}\b"),
    ("a Grafana token", r"\bglsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}\b"),
    ("a Sentry token", r"\bsntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("a key of this desk", r"\bc(?:s[ku]|in)_[A-Za-z0-9]{27,}"),
    ("a signed token (JWT)", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}"),
    (
        "an address with a password in it",
        r#"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>\\]+:[^\s/:@"'<>\\{}$*]{4,}@[A-Za-z0-9\[]"#,
    ),
];

/// The forms one by one, to find the place, and all at once, to find out quickly that there is nothing.
static COMPILED: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let forms = RULES.iter().map(|(_, form)| *form);
    #[expect(
        clippy::expect_used,
        reason = "the forms are fixed, and every test of this module compiles them"
    )]
    let set = RegexSet::new(forms.clone()).expect("fixed forms compile");
    #[expect(clippy::expect_used, reason = "the same")]
    let each = forms.map(|form| Regex::new(form).expect("a fixed form compiles")).collect();
    (set, each)
});

/// Every rule that fits somewhere in the text.
pub(super) fn fits(text: &str) -> Vec<Fit> {
    let (set, each) = &*COMPILED;
    let fitting = set.matches(text);
    let fit = |index: usize| {
        let (name, _) = RULES.get(index)?;
        Some(Fit { name, at: each.get(index)?.find(text)?.start() })
    };
    fitting.iter().filter_map(fit).collect()
}

/// What the rules call what they find.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

//! Step 6: on the surface `mcp` the arguments are cut to the advertised schema. Elsewhere an unknown argument is a
//! fault, found when the input is prepared.

use model::Surface;

use super::stage::{Authorized, Call, Cut, Sent};
use crate::catalogue::input;

pub(super) fn cut(call: Call<Authorized>) -> Call<Cut> {
    if call.head.surface != Surface::Mcp {
        return call.become_next();
    }
    let action = call.head.action.clone();
    call.become_with(|sent| Sent { input: input::cut_to_schema(&action, sent.input), ..sent })
}

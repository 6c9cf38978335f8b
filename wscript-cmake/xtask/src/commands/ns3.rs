//! `cargo xtask ns3`: the module in an ns-3 tree.

use crate::apt;
use crate::cli::Ns3Options;
use crate::context::Context;
use crate::failure::Result;
use crate::ns3_fetch;
use crate::ns3_tree::Tree;
use crate::runner;

/// Links into the user's tree, or fetches, links and builds one; prints the commands that follow.
pub fn run(options: &Ns3Options) -> Result<()> {
    if let Some(path) = &options.path {
        // Checked before the cache is touched.
        let tree = Tree::open(path)?;
        let context = Context::new()?;
        let note = tree.link(&runner::module(&context)?, false)?;
        eprintln!("{}: {note}", tree.root.join("contrib/ferrocc").display());
        print!("{}", tree.commands());
        return Ok(());
    }
    let context = Context::new()?;
    let tree = fetch_and_build(&context)?;
    print!("{}", tree.commands());
    Ok(())
}

/// The cache's tree with this clone's module, built with its tests.
pub fn fetch_and_build(context: &Context) -> Result<Tree> {
    apt::ensure(context, &apt::BUILD)?;
    let tree = ns3_fetch::ensure(context)?;
    context
        .progress
        .step("ns-3 link", "link contrib/ferrocc to this clone", |_| {
            Ok(tree.link(&runner::module(context)?, true)?.into())
        })?;
    tree.configure(context)?;
    tree.build(context, &[])?;
    Ok(tree)
}

package io.turbidite.core.sim;

/** What a name on a simulated disk leads to. */
sealed interface Node permits FileNode, DirectoryNode {
    /** Number on its disk, the same in crash images. */
    long id();
}

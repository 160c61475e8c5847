package io.turbidite.feeds.cluster.agree;

/**
 * Mistakes that are planted around the protocol: by a disk that forgets, a schema that lies, or
 * mail that is changed on its way so that a check of its reader lets it pass.
 */
enum SimBug {
    NONE,
    /** The controller's log is not synced: a disk that forgets. */
    RECORDS_WITHOUT_SYNC,
    /** A node's copy is not synced: a disk that forgets. */
    COPIES_WITHOUT_SYNC,
    /** What a node prepared before it registered anew counts: its stamp is brought up to date. */
    COUNTS_OLD_REGISTRATIONS,
    /** Nodes take orders of controllers before: stamps are brought up to date. */
    TAKES_OLD_EPOCHS,
    /** A change is recorded without waiting for nodes: somebody answers for them. */
    DOES_NOT_WAIT_FOR_ALL,
    /** A node says that it has prepared, and has not: the schema does nothing. */
    PREPARES_NOTHING,
    /**
     * A node that comes back takes changes into its copy alone: the schema says that it has them.
     */
    WHO_COMES_BACK_APPLIES_NOTHING,
    /** A controller whose log is an old copy goes on: nodes say no more than it has. */
    GOES_ON_BEHIND_ITS_NODES,
    /** A recovery takes the first copy that it hears: others say that they have nothing. */
    RECOVERS_ANY_COPY,
    /** What was prepared for a change that was given up is left: nobody is told. */
    ABANDONS_NOTHING
}

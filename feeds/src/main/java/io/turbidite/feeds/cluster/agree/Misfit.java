package io.turbidite.feeds.cluster.agree;

/** Why a message or a job was refused that is not for the cluster as its reader knows it. */
public enum Misfit {
    /** It is of another cluster. */
    OTHER_CLUSTER("it is of another cluster"),
    /** No change has added a node of this name. */
    UNKNOWN_NODE("the cluster has no node of this name"),
    /** A later controller was heard of. */
    OLD_EPOCH("a later controller has started"),
    /** A controller of the same epoch, but another process, was heard of. */
    OTHER_CONTROLLER("another controller of this cluster runs, from a copy of its directory"),
    /** The node has registered anew since, or has not yet. */
    OTHER_REGISTRATION("the node has registered anew since, or must"),
    /** It is for another number of the log of changes. */
    OTHER_NUMBER("it was made for another number of the log of changes"),
    /** The controller has stopped; its reason is told where it runs. */
    STOPPED("the controller has stopped");

    private final String words;

    Misfit(String words) {
        this.words = words;
    }

    /** For messages to people. */
    public String words() {
        return words;
    }
}

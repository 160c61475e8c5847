package io.turbidite.feeds.cluster.agree;

import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;

import java.util.List;

/** What a controller and a node say to one another. <em>Immutable.</em> */
public sealed interface Message {
    /**
     * A node asks to be registered.
     *
     * @param epoch the latest that it has heard of
     * @param number of the last change in its copy
     * @param chain of that change
     * @param process a random number of the node's process
     */
    record Hello(long clusterId, Epoch epoch, long number, long chain, long process)
            implements Message {}

    /**
     * The controller has registered a node.
     *
     * @param stamp with the controller's number: the node serves once it has it
     * @param process that has asked: one that has ended may have prepared what it says
     */
    record Welcome(Stamp stamp, long process) implements Message {}

    /**
     * A node says what it has; also, now and then, that it is there.
     *
     * @param chain of the change that the stamp's number names
     * @param attempt that it has prepared; 0 if none
     */
    record Holds(Stamp stamp, long chain, long attempt) implements Message {}

    /** The controller tells a node changes that are recorded. */
    record Entries(Stamp stamp, List<Entry> entries) implements Message {
        public Entries {
            entries = List.copyOf(entries);
        }
    }

    /**
     * The controller asks a node to prepare a change.
     *
     * @param attempt counts in the epoch, from 1
     */
    record Prepare(Stamp stamp, long attempt, Entry entry) implements Message {}

    /** A node has prepared a change. */
    record Prepared(Stamp stamp, long attempt) implements Message {}

    /** A node can't: the change will not be recorded. */
    record Unprepared(Stamp stamp, long attempt, String why) implements Message {}

    /** The change of this attempt will not be recorded: a node gives up what it prepared. */
    record Abandon(Stamp stamp, long attempt) implements Message {}

    /**
     * Refuses a message.
     *
     * @param stamp that the message had
     */
    record Unfit(Stamp stamp, Misfit misfit) implements Message {}

    /** A controller that is being recovered asks for the changes behind a number. */
    record Show(Stamp stamp, long after) implements Message {}

    /** The answer; empty if there are none. */
    record Shown(Stamp stamp, List<Entry> entries) implements Message {
        public Shown {
            entries = List.copyOf(entries);
        }
    }
}

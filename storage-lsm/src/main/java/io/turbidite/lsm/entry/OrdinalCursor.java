package io.turbidite.lsm.entry;

/** Entries of a component that know their place in it. <em>Confined to one thread.</em> */
public interface OrdinalCursor extends EntryCursor {
    /** The entry's place among all entries of the component, from 0. */
    long ordinal();
}

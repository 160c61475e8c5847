package io.turbidite.core.index;

/**
 * Sessions of a store by their random numbers. A session is one opening for writing, and all that
 * is written until the next: what two copies of a store do after they were taken apart, they do in
 * different sessions. Timestamps don't tell them apart. Within a session all is one history.
 *
 * <p>So a region notes whose session it is of. It is a store's if that is the session which the
 * store's manifest names. <em>Immutable.</em>
 *
 * @param last the manifest named it when the store was opened; 0 if that was written by a release
 *     without sessions
 * @param now this opening's: the manifest names it before any region absorbs anything
 */
public record RegionSessions(long last, long now) {
    /** Of who has no store, and of releases without sessions. */
    public static final RegionSessions NONE = new RegionSessions(0, 0);
}

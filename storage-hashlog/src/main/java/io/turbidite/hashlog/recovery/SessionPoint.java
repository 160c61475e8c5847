package io.turbidite.hashlog.recovery;

/**
 * The newest mark of a session in the log. <em>Immutable.</em>
 *
 * @param serial of the last input record that it vouches for
 * @param address of the mark
 */
public record SessionPoint(long serial, long address) {
    /** The one that is newer in the log. */
    public static SessionPoint newer(SessionPoint a, SessionPoint b) {
        return a.address >= b.address ? a : b;
    }
}

package io.turbidite.core.index;

/**
 * The file of a region that does not lie in its store. <em>Immutable.</em>
 *
 * @param path absolute
 * @param place what tells its directory from another that has the same name, such as the empty one
 *     that is seen while a file system is not mounted there; empty if nothing does
 */
public record OutsideFile(String path, String place) {
    /** What became of such a file that nobody needs any more. */
    public enum Removal {
        /** It is deleted, durably, or was not there. */
        GONE,

        /** What has its name is not that region's, or can't be told to be: it is left. */
        ANOTHERS,

        /** Its directory is not there now. */
        OUT_OF_REACH
    }
}

package io.turbidite.core.sim;

import java.util.Map;

/** What of a disk goes into an image of it. */
interface Survivors {
    /** Everything that processes see, as after a clean unmount. */
    Survivors ALL = new Survivors() {
        @Override
        public Map<String, Node> namesOf(DirectoryNode directory) {
            return directory.seen();
        }

        @Override
        public SectorMap contentOf(FileNode file) {
            return file.seen().share();
        }
    };

    /** The names that are left in a directory; the caller does not change the map. */
    Map<String, Node> namesOf(DirectoryNode directory);

    /** The bytes that are left of a file, for the caller to keep. */
    SectorMap contentOf(FileNode file);
}

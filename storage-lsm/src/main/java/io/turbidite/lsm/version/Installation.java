package io.turbidite.lsm.version;

import io.turbidite.core.StoreFailedException;

/**
 * Whether new files belong to the store, as far as anybody can know.
 *
 * <p>They do from the manifest edit on that names them. If the store fails in that edit, nobody
 * knows before the next opening which manifest stands. It may name the files, so they must stay;
 * if it does not, the opening puts them into the trash.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class Installation {
    private boolean mayStand;

    /** Runs the edit that names the files. */
    public void run(Runnable edit) {
        try {
            edit.run();
            mayStand = true;
        } catch (StoreFailedException uncertain) {
            mayStand = true;
            throw uncertain;
        }
    }

    /** Whether a manifest may name the files. If not, whoever made them deletes them. */
    public boolean mayStand() {
        return mayStand;
    }
}

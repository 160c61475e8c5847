package io.turbidite.feeds.health;

import io.turbidite.core.StorageException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.lsm.Store;

import java.util.List;
import java.util.Optional;

/** Whether a store takes writes. Static, without state. */
public final class Readiness {
    private Readiness() {}

    /** How the reason begins when the disk is full. */
    static final String NO_SPACE = "no space on disk";

    /** Why it takes none, if so; nothing is written to find out. */
    public static Optional<String> of(Store store) {
        try {
            store.write(store.newBatch());
        } catch (StorageException refused) {
            return Optional.of(Failures.oneLine(String.valueOf(refused.getMessage())));
        }
        List<StoreEvent> recent = store.events().recent();
        for (int i = recent.size() - 1; i >= 0; i--) {
            if (recent.get(i) instanceof StoreEvent.SpaceChanged change) {
                return change.paused()
                        ? Optional.of(NO_SPACE + ": " + change.what())
                        : Optional.empty();
            }
        }
        return Optional.empty();
    }
}

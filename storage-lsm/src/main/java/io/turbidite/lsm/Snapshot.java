package io.turbidite.lsm;

import io.turbidite.core.scan.ReadView;
import io.turbidite.lsm.partition.ViewState;

/**
 * One moment of a whole store: all views of it, of any dataset, show this moment (D3). The store
 * keeps the old versions that it shows until it is closed.
 *
 * <em>Thread-safe.</em>
 */
public final class Snapshot implements AutoCloseable {
    private final Store store;
    private final ViewState state;
    private final Runnable onClose;

    Snapshot(Store store, ViewState state, Runnable onClose) {
        this.store = store;
        this.state = state;
        this.onClose = onClose;
    }

    /** The snapshot shows everything up to this timestamp, and nothing after it. */
    public long timestamp() {
        return state.timestamp();
    }

    ViewState state() {
        return state;
    }

    /**
     * A dataset at this moment. Closing the view leaves the snapshot open.
     *
     * @throws io.turbidite.core.InvalidRequestException if the dataset belongs to another store, or
     *     was dropped
     */
    public ReadView view(Dataset dataset) {
        state.checkOpen();
        store.requireOwn(dataset);
        dataset.opened().admission().checkNotDropped();
        return new DatasetView(dataset, dataset.schema(), state.shared(), () -> {});
    }

    @Override
    public void close() {
        if (state.close()) {
            onClose.run();
        }
    }
}

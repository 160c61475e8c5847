package io.turbidite.lsm.dataset;

import io.turbidite.core.InvalidRequestException;

/** Another change of the dataset is under way: it is worth another try when that has ended. */
public final class BeingChangedException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    BeingChangedException(String dataset) {
        super("dataset %s is being changed: an index is built, or it is bulk loaded; wait for it"
                .formatted(dataset));
    }
}

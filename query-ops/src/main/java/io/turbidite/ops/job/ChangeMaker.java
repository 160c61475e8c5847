package io.turbidite.ops.job;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.record.RecordView;

/** Makes changes of rows. <em>Confined to one thread at a time.</em> */
interface ChangeMaker {
    /**
     * The record or key of a row, valid until the next.
     *
     * @throws io.turbidite.core.InvalidRequestException naming the field, if there is none of it
     */
    Slice of(RecordView row);

    /** Puts the change of a row into a batch. */
    void put(ChangeBatch batch, Slice made);
}

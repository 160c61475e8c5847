package io.turbidite.hashlog.scan;

import io.turbidite.core.StorageException;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.history.RunCursor;

/** How a scan gets at the wanted property in the index. <em>Confined to the scan's thread.</em> */
public interface Ways {
    /** A walk along its chain of a PSF, not started. */
    ChainWalk chain(int psfId);

    /**
     * Its addresses in the run of a part; the scan closes it.
     *
     * @throws io.turbidite.core.StorageException if the run can't be read: the part is scanned then
     */
    RunCursor run(ScanPart part);

    /**
     * The run of a part can't be read: it is looked at in full, and the run is not worth keeping.
     */
    void unreadable(ScanPart part, StorageException why);

    /** How much to read ahead of the addresses of a run. */
    ReadAhead readAhead();
}

package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.history.RunCursor;

/** How a scan gets at the wanted property in the index. <em>Confined to the scan's thread.</em> */
public interface Ways {
    /** A walk along its chain of a PSF, not started. */
    ChainWalk chain(int psfId);

    /** Its addresses in the run of a part; the scan closes it. */
    RunCursor run(ScanPart part);

    /** How much to read ahead of the addresses of a run. */
    ReadAhead readAhead();
}

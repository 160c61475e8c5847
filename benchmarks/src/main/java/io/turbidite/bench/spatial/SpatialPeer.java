package io.turbidite.bench.spatial;

import org.locationtech.jts.geom.Envelope;

/** Another index of the same points. <em>Confined to one thread.</em> */
interface SpatialPeer {
    /** What it is, as the head of its column. */
    String name();

    /** How many points are in a window, borders included: each is visited. */
    long count(Envelope window);
}

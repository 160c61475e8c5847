package io.turbidite.pm.region;

/** Bugs of the region that only tests plant. */
public final class Plants {
    private Plants() {}

    /** Pages are used again as soon as they are retired. */
    public static void reusePagesAtOnce(Region region) {
        region.pages().reusesAtOnce = true;
    }
}

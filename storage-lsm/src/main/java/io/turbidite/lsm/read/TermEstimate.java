package io.turbidite.lsm.read;

import java.util.Arrays;

/** About how many records have some of several terms, of which only the entries are counted. */
final class TermEstimate {
    private TermEstimate() {}

    /**
     * Never more than there can be: a record with so many of the terms has one of the rarest, and
     * has so many entries. Where it must have several, the others leave some of these out. Terms
     * depend on one another, as the grams of a word do, so the share of one more term counts with
     * its square root, that of the next one with its fourth root.
     *
     * @param entries of each term; sorted by this call
     * @param least terms that a record must have
     * @param all about how many records there are
     */
    static long records(long[] entries, int least, long all) {
        Arrays.sort(entries);
        int rarest = entries.length - least + 1;
        long ofRarest = Arrays.stream(entries, 0, rarest).sum();
        if (least == 1 || least == entries.length) {
            return ofRarest;
        }
        double left = (double) ofRarest;
        double exponent = 0.5;
        for (int i = rarest; i < entries.length; i++) {
            left *= Math.pow(Math.min(1, (double) entries[i] / Math.max(1, all)), exponent);
            exponent /= 2;
        }
        return Math.min(Math.round(left), Arrays.stream(entries).sum() / least);
    }
}

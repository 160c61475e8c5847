package io.turbidite.lsm.check;

import java.util.List;

/**
 * What an upgrade of a store has done. <em>Immutable.</em>
 *
 * @param rewritten files of older formats that were there, and are no more
 * @param bytes of them
 * @param left what is of an older format still: components in quarantine, and those that an index
 *     is being built from
 */
public record UpgradeReport(int rewritten, long bytes, List<StoredFormat> left) {
    public UpgradeReport {
        left = List.copyOf(left);
    }

    /** What an upgrade did that found some files of older formats, and left some. */
    public static UpgradeReport of(List<StoredFormat> before, List<StoredFormat> left) {
        List<StoredFormat> gone = before.stream()
                .filter(file -> left.stream().noneMatch(one -> one.file().equals(file.file())))
                .toList();
        return new UpgradeReport(
                gone.size(), gone.stream().mapToLong(StoredFormat::bytes).sum(), left);
    }
}

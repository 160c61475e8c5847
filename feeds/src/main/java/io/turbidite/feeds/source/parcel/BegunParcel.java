package io.turbidite.feeds.source.parcel;

import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;

import org.jspecify.annotations.Nullable;

/**
 * A parcel that was read in part, from one reader of its partition to the next. The framer goes
 * along, for it is the one that knows where the next record begins: read again, a record whose
 * quotes were broken might be cut otherwise, and those behind it get other numbers. <em>Owned by
 * one reader at a time.</em>
 *
 * @param framer at the last record that was given out
 * @param header the columns; null if the parser wants none
 * @param number of that record; the one before the parcel's first if none was given out
 */
record BegunParcel(
        Ticket ticket, RecordFramer framer, @Nullable RecordFrame header, long number) {}

/**
 * Pictures of answers: counts by cells of a grid, as SVG or PNG.
 *
 * <p>Invariant: a picture is written whole or not at all. XChart draws, batik-svggen writes SVG; no
 * other room knows either of them, and both may be missing. Start reading at {@link
 * io.turbidite.feeds.command.plot.CellPicture}.
 */
@NullMarked
package io.turbidite.feeds.command.plot;

import org.jspecify.annotations.NullMarked;

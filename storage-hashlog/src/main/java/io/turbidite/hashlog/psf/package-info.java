/**
 * Predicated subset functions (FISH19 §2.1): which properties a record has.
 *
 * <p>Holds their definitions ({@link io.turbidite.hashlog.psf.PsfDefinition}), sets of them ({@link
 * io.turbidite.hashlog.psf.PsfSet}), the expression language of predicates and the plan that
 * evaluates a set over a record in one pass ({@link io.turbidite.hashlog.psf.PropertyExtractor}).
 * Knows the parsers, not the log. Invariant: equal values are one property however they are spelled
 * in the record, different values never are.
 */
@NullMarked
package io.turbidite.hashlog.psf;

import org.jspecify.annotations.NullMarked;

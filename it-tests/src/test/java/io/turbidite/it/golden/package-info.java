/** Archived stores of every released format version, which must open for ever (R20). */
@NullMarked
package io.turbidite.it.golden;

import org.jspecify.annotations.NullMarked;

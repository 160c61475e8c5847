/** Tests of answers: random histories and small cases against what plain maps say. */
@NullMarked
package io.turbidite.lsm.model;

import org.jspecify.annotations.NullMarked;

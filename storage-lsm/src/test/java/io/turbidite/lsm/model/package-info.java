/** Tests of answers: random histories and small cases, compared with plain maps. */
@NullMarked
package io.turbidite.lsm.model;

import org.jspecify.annotations.NullMarked;

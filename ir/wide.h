// Wide: an integer in which a product of two 64-bit ones fits.
#ifndef FOOTPRINT_IR_WIDE_H_
#define FOOTPRINT_IR_WIDE_H_

namespace footprint {

__extension__ typedef __int128 Wide;

}  // namespace footprint

#endif  // FOOTPRINT_IR_WIDE_H_
